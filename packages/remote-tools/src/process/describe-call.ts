/** What a reviewer reads before a program is started. */
import { startOfInput } from '@tutti/core'

/** The command line, and the start of the input. */
export function describeCall(
  { command, args }: { readonly command: string; readonly args: readonly string[] },
  input: unknown,
): string {
  return `Execute command: ${[command, ...args].join(' ')}\nInput: ${startOfInput(input)}`
}
