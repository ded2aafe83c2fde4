import { defineTextTool, runTool, ToolResult, type ToolSettings, type TypedTool } from '@tutti/core'

interface DiceOptions extends Partial<ToolSettings<string>> {
  /** Returns a number from 0 to 1, exclusive. @default Math.random */
  readonly random?: () => number
}

const DEFAULTS = {
  name: 'dice',
  description: 'Rolls dice. Input: how many and with how many sides, such as 2d6',
} as const satisfies ToolSettings<string>

/** Creates a text tool that rolls dice: `2d6` returns, for example, `3 + 5 = 8`. */
function dice(options: DiceOptions = {}): TypedTool<string> {
  const { random = Math.random, ...settings } = options
  return defineTextTool({
    ...DEFAULTS,
    ...settings,
    execute(input) {
      const [, count, sides] = /^(\d{1,2})d(\d{1,3})$/.exec(input.trim()) ?? []
      if (count === undefined || sides === undefined) {
        return ToolResult.failure(`Cannot roll "${input}": expected such as 2d6`)
      }
      const rolls = Array.from(
        { length: Number(count) },
        () => 1 + Math.floor(random() * Number(sides)),
      )
      return `${rolls.join(' + ')} = ${rolls.reduce((sum, roll) => sum + roll, 0)}`
    },
  })
}

// Tests use fixed numbers.
const tool = dice({ random: () => 0.5, timeoutMs: 1_000 })
for (const input of ['2d6', 'a handful']) {
  const call = { id: '1', name: 'dice', arguments: JSON.stringify({ input }) }
  const { result } = await runTool(tool, call)
  console.log(result.success ? result.output : result.errorMessage)
}
// 4 + 4 = 8
// Cannot roll "a handful": expected such as 2d6
