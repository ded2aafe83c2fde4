/** What a reviewer reads before a program is started. */

/** Characters of the input that are shown, as in AgentEnsemble. */
const SHOWN_INPUT_LENGTH = 200

/** The command line, and the start of the input. */
export function describeCall(
  { command, args }: { readonly command: string; readonly args: readonly string[] },
  input: unknown,
): string {
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  const shown =
    text.length > SHOWN_INPUT_LENGTH
      ? `${text.slice(0, SHOWN_INPUT_LENGTH).replace(/[\uD800-\uDBFF]$/, '')}…`
      : text
  return `Execute command: ${[command, ...args].join(' ')}\nInput: ${shown}`
}
