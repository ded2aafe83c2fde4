/** What every agent of the benchmark is told and answers: one order, made with one tool call. */
import { ORDER_OUTPUT } from './order-tool.ts'

/** Who the agent is. */
export const ROLE = 'Buyer'

/** What it is asked for. */
export const PROMPT = 'Order two teas'

/** Its answer when it has called the tool, which repeats what the tool gave. */
export const ANSWER = answerTo(ORDER_OUTPUT)

/** The answer of the scripted models to the output of the tool. */
export function answerTo(output: string): string {
  return `Ordered ${output}`
}

/** `text` word by word, as models stream it. */
export function pieces(text: string): readonly string[] {
  return text.match(/\s*\S+/g) ?? []
}
