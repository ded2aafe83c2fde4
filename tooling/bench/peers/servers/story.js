/** What every server of the benchmark is asked and does: one order, made with one tool call. */

/** What the agent is asked for. */
export const PROMPT = 'Order two teas'

/** Name and description of the tool. */
export const TOOL = { name: 'order', description: 'Orders goods' }

/** What the model calls the tool with. */
export const INPUT = { item: 'tea', count: 2, size: 'm', gift: true, tags: ['hot', 'green'] }

/** The body of the tool. */
export function order({ item, count }) {
  return `${count} ${item}`
}

/** The input of the tool as a schema of zod. */
export function orderSchema(z) {
  return z.object({
    item: z.string(),
    count: z.number().int().min(1),
    size: z.enum(['s', 'm', 'l']),
    gift: z.boolean(),
    tags: z.array(z.string()),
  })
}

/** The answer of the model to the output of the tool, in the pieces it is streamed in. */
export function answerPieces(output) {
  return ['Ordered', ...output.split(' ').map((word) => ` ${word}`)]
}

/** The answer when the tool was really called. */
export const ANSWER = answerPieces(order(INPUT)).join('')
