/** What we say of ourselves, told as it was measured: a line a claim, and never a failure. */

/** A number that should be reached, or not be passed. */
export interface Claim {
  /** What is claimed, such as `AI SDK takes at least 10 times as long`. */
  readonly text: string
  /** The least or the greatest value that keeps the claim. */
  readonly atLeast?: number
  readonly atMost?: number
  readonly measured: number
  /** What follows the measured number, such as ` times`. @default '' */
  readonly unit?: string
}

/** Whether the claim holds. A measurement that is no number keeps none. */
export function isMet({ atLeast, atMost, measured }: Claim): boolean {
  return measured >= (atLeast ?? -Infinity) && measured <= (atMost ?? Infinity)
}

/** Prints the claim, what was measured, and whether that is enough. */
export function printClaim(claim: Claim): void {
  const measured = `${claim.measured.toFixed(1)}${claim.unit ?? ''}`
  console.log(`CLAIM ${claim.text}: ${measured}, ${isMet(claim) ? 'met' : 'NOT met'}`)
}
