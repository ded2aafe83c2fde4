import { Type, type AgentTool, type ToolContext, type ToolResult } from '@tutti/core'
import { describe, expectTypeOf, it } from 'vitest'

import { processTool, type ProcessTool } from './process-tool.ts'

const BASE = { name: 'work', description: 'Works', command: 'sh' }

describe('the types of a process tool', () => {
  it('The types of a process tool are those of a text tool when it declares no input', () => {
    const tool = processTool({
      ...BASE,
      requireApproval: { describe: (input) => input.toUpperCase() },
    })
    expectTypeOf(tool).toEqualTypeOf<ProcessTool<string>>()
    expectTypeOf(tool).toExtend<AgentTool & AsyncDisposable>()
    expectTypeOf(tool.execute).parameters.toEqualTypeOf<[string, ToolContext<string>]>()
  })

  it('The types of a process tool come from its schemas', () => {
    const tool = processTool({
      ...BASE,
      input: Type.Object({ city: Type.String() }),
      output: Type.Object({ degrees: Type.Number() }),
      requireApproval: { describe: ({ city }) => city },
      mode: 'worker',
      worker: { size: 2 },
    })
    expectTypeOf(tool).toEqualTypeOf<ProcessTool<{ city: string }, { degrees: number }>>()
    expectTypeOf(tool.execute).returns.resolves.toEqualTypeOf<
      string | ToolResult | { degrees: number }
    >()
  })

  it('The types of a process tool use text for the output when none is declared', () => {
    const tool = processTool({ ...BASE, input: Type.Object({ city: Type.String() }) })
    expectTypeOf(tool).toEqualTypeOf<ProcessTool<{ city: string }>>()
  })

  it('The types of a process tool exclude an output without an input, a body, and unknown options', () => {
    // @ts-expect-error -- the output of a text tool is text
    processTool({ ...BASE, output: Type.Number() })
    // @ts-expect-error -- the program is the body
    processTool({ ...BASE, input: Type.Object({}), execute: () => '' })
    // @ts-expect-error -- a shell is not supported
    processTool({ ...BASE, shell: true })
  })
})
