/** Prints whether our claims hold, one line each. A claim that does not hold is not a failure. */

/** A limit that a measurement should reach or not exceed. */
export interface Claim {
  /** The claim, such as `AI SDK takes at least 10 times as long`. */
  readonly text: string
  /** Minimum or maximum value for which the claim holds. */
  readonly atLeast?: number
  readonly atMost?: number
  readonly measured: number
  /** Unit after the measured number, such as ` times`. @default '' */
  readonly unit?: string
}

/** Returns whether the claim holds; false for NaN. */
export function isMet({ atLeast, atMost, measured }: Claim): boolean {
  return measured >= (atLeast ?? -Infinity) && measured <= (atMost ?? Infinity)
}

/** Prints the claim, the measurement, and whether the claim holds. */
export function printClaim(claim: Claim): void {
  const measured = `${claim.measured.toFixed(1)}${claim.unit ?? ''}`
  console.log(`CLAIM ${claim.text}: ${measured}, ${isMet(claim) ? 'met' : 'NOT met'}`)
}
