/** The tool of the benchmarks, the same for all contestants: five typed fields, a short body. */
import { defineTool, Type } from '@tutti/core'

import { importPeer } from './peers.ts'

/** Name and description of the tool. */
export const ORDER = { name: 'order', description: 'Orders goods' } as const

/** Its input as JSON text. */
export const ORDER_ARGUMENTS = JSON.stringify({
  item: 'tea',
  count: 2,
  size: 'm',
  gift: true,
  tags: ['hot', 'green'],
})

/** Its output for that input. */
export const ORDER_OUTPUT = '2 tea'

/** Body of the tool. */
export function order({ item, count }: { readonly item: string; readonly count: number }): string {
  return `${count} ${item}`
}

/** The tool as a Tutti tool. */
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

/** Used parts of zod; only the peers know the type of a schema. */
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

/** Returns the schema of the tool for the peers. */
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
