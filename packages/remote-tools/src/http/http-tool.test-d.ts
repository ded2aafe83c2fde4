import { Type, type AgentTool } from '@tutti/core'
import { describe, expectTypeOf, it } from 'vitest'

import { httpGetTool, httpTool, type HttpTool } from './http-tool.ts'

const base = { name: 'x', description: 'X', url: 'https://a.test/{id}' }

describe('the types of an HTTP tool', () => {
  it('The types of an HTTP tool are text for a text tool', () => {
    expectTypeOf(httpTool(base)).toEqualTypeOf<HttpTool<string>>()
    expectTypeOf(httpGetTool('x', 'X', 'https://a.test')).toEqualTypeOf<HttpTool<string>>()
    expectTypeOf(httpTool(base)).toExtend<AgentTool>()
  })

  it('The types of an HTTP tool follow from the schemas of a typed tool', () => {
    const input = Type.Object({ id: Type.String() })
    const output = Type.Object({ n: Type.Number() })
    const tool = httpTool({ ...base, input, output, request: ({ id }) => ({ path: { id } }) })
    expectTypeOf(tool).toEqualTypeOf<HttpTool<{ id: string }, { n: number }>>()
    // @ts-expect-error -- the input has no such field
    httpTool({ ...base, input, request: ({ nope }) => ({ body: nope }) })
  })
})
