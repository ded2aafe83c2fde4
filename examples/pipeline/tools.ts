/** The tools of this example, with typed inputs and outputs. */
import { defineTextTool, defineTool, Type } from '@tutti/core'

const Order = Type.Object({ item: Type.String(), count: Type.Integer({ minimum: 1 }) })
const Offer = Type.Object({ shop: Type.String(), total: Type.Number() })

/** Parses an order as people write it. */
export const readOrder = defineTool({
  name: 'read_order',
  description: 'Reads an order such as "40 red chairs"',
  input: Type.Object({ order: Type.String() }),
  output: Order,
  execute({ order }) {
    const [, count, item] = /^(\d+)\s+(.+)$/.exec(order) ?? []
    if (count === undefined || item === undefined) throw new Error(`Cannot read "${order}"`)
    return { item, count: Number(count) }
  },
})

/** Creates a tool that asks one shop for its price. */
export function askShop(shop: string, priceOf: (item: string) => number) {
  return defineTool({
    name: `ask_${shop}`,
    description: `Asks the shop ${shop} for the price of an order`,
    input: Order,
    output: Offer,
    execute: ({ item, count }) => ({ shop, total: count * priceOf(item) }),
  })
}

/** Asks for a better price. */
export const bargain = defineTool({
  name: 'bargain',
  description: 'Gets a discount of ten percent',
  input: Offer,
  output: Offer,
  execute: ({ shop, total }) => ({ shop, total: total * 0.9 }),
})

/** Writes a quote for the offer. */
export const writeQuote = defineTextTool({
  name: 'write_quote',
  description: 'Writes a quote',
  execute: (text) => `Quote no. 1: ${text}`,
})
