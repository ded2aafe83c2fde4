/** The tool that benchmarks call, the same for all who take part: five typed fields, a short body. */
import { defineTool, Type } from '@tutti/core'

import { importPeer } from './peers.ts'

/** Name and description of the tool. */
export const ORDER = { name: 'order', description: 'Orders goods' } as const

/** What it is called with: JSON text. */
export const ORDER_ARGUMENTS = JSON.stringify({
  item: 'tea',
  count: 2,
  size: 'm',
  gift: true,
  tags: ['hot', 'green'],
})

/** What it gives then. */
export const ORDER_OUTPUT = '2 tea'

/** The body of the tool. */
export function order({ item, count }: { readonly item: string; readonly count: number }): string {
  return `${count} ${item}`
}

/** The tool as ours. */
export const orderTool = defineTool({
  ...ORDER,
  input: Type.Object({
    item: Type.String(),
    count: Type.Integer({ minimum: 1 }),
    size: Type.Enum(['s', 'm', 'l']),
    gift: Type.Boolean(),
    tags: Type.Array(Type.String()),
  }),
  execute: order,
})

/** What of zod is used here; a schema is for the peers to know. */
interface Zod {
  readonly z: {
    object(fields: Readonly<Record<string, unknown>>): unknown
    string(): unknown
    number(): { int(): { min(least: number): unknown } }
    enum(values: readonly string[]): unknown
    boolean(): unknown
    array(item: unknown): unknown
  }
}

/** The schema of the tool as the peers take it. */
export async function orderZodSchema(): Promise<unknown> {
  const { z } = await importPeer<Zod>('zod')
  return z.object({
    item: z.string(),
    count: z.number().int().min(1),
    size: z.enum(['s', 'm', 'l']),
    gift: z.boolean(),
    tags: z.array(z.string()),
  })
}
