/** The tool of the benchmarks as a Tutti tool. */
import { defineTool, Type } from '@tutti/core'

import { order, TOOL } from './story.ts'

/** Orders goods. */
export const orderTool = defineTool({
  ...TOOL,
  input: Type.Object({
    item: Type.String(),
    count: Type.Integer({ minimum: 1 }),
    size: Type.Enum(['s', 'm', 'l']),
    gift: Type.Boolean(),
    tags: Type.Array(Type.String()),
  }),
  execute: order,
})
