/** The task of every agent of the benchmarks: one order, made with one call of a tool of five typed fields. */

/** Role of the agent. */
export const ROLE = 'Buyer'

/** Request to the agent. */
export const PROMPT = 'Order two teas'

/** Name and description of the tool. */
export const TOOL = { name: 'order', description: 'Orders goods' } as const

/** Input of the tool. */
export const INPUT = { item: 'tea', count: 2, size: 'm', gift: true, tags: ['hot', 'green'] }

/** The same as JSON text. */
export const ARGUMENTS = JSON.stringify(INPUT)

/** Output of the tool for that input. */
export const OUTPUT = order(INPUT)

/** Answer of the agent after the tool call. */
export const ANSWER = answerTo(OUTPUT)

/** Body of the tool. */
export function order({ item, count }: { readonly item: string; readonly count: number }): string {
  return `${count} ${item}`
}

/** Returns the scripted answer to a tool result, which it repeats. */
export function answerTo(output: string): string {
  return `Ordered ${output}`
}

/** Splits a text into words, as models stream it. */
export function splitWords(text: string): readonly string[] {
  return text.match(/\s*\S+/g) ?? []
}
