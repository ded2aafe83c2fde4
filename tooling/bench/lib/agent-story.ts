/** The input and output of every agent in the benchmark: one order, made with one tool call. */
import { ORDER_OUTPUT } from './order-tool.ts'

/** Role of the agent. */
export const ROLE = 'Buyer'

/** Request to the agent. */
export const PROMPT = 'Order two teas'

/** Answer of the agent after the tool call, which repeats the tool's output. */
export const ANSWER = answerTo(ORDER_OUTPUT)

/** Returns the scripted models' answer to the tool output. */
export function answerTo(output: string): string {
  return `Ordered ${output}`
}

/** Splits `text` into words, as models stream it. */
export function pieces(text: string): readonly string[] {
  return text.match(/\s*\S+/g) ?? []
}
