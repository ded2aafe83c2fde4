import { describe, expect, it } from 'vitest'

import { defineTool, ToolResult, TuttiError, Type } from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'
import { pipeline, pipelineBuilder } from './index.ts'
import { call } from '../test/call.ts'
import { failOnUnhandledRejections } from '../test/leaks.ts'
import { textTool, throwingTool } from '../test/text-tools.ts'

import type { PipelineErrorStrategy } from './internal.ts'
import type { AgentTool, ToolReturn } from '@tutti/core'

failOnUnhandledRejections()

const Page = Type.Object({ url: Type.String(), words: Type.Integer() })
const read = defineTool({
  name: 'read',
  description: 'Reads a page',
  input: Type.Object({ url: Type.String() }),
  output: Page,
  execute: ({ url }) => ({ url, words: url.length }),
})
const rate = defineTool({
  name: 'rate',
  description: 'Rates a page',
  input: Page,
  output: Type.Object({ score: Type.Number() }),
  execute: ({ words }) => ({ score: words / 10 }),
})

function failing(name: string, message = 'No such page'): ReturnType<typeof textTool> {
  return textTool(name, () => ToolResult.failure(message))
}

describe('[PIPE-P1] the input of a step', () => {
  it('The input of a step is the unchanged text between text tools', async () => {
    const { result } = await call(pipeline([textTool('a'), textTool('b'), textTool('c')]), {
      input: '{"x": [1]}',
    })
    expect(result).toEqual(ToolResult.success('{"x": [1]}>a>b>c'))
  })

  it('The input of a step is the structured value between typed tools', async () => {
    const { result, inputs } = await call(pipeline([read, rate]), { url: 'abcde' })
    expect(result).toEqual(ToolResult.success('{"score":0.5}', { score: 0.5 }))
    expect(inputs).toEqual(['{"url":"abcde"}', '{"url":"abcde","words":5}'])
  })

  it('The input of a step is the text of a typed tool for a text tool', async () => {
    const pretty = defineTool({
      name: 'pretty',
      description: 'Gives text of its own beside the value',
      input: Type.Object({}),
      output: Page,
      execute: () => ToolResult.success('A page', { url: 'u', words: 1 }),
    })
    expect((await call(pipeline([read, textTool('b')]), { url: 'u' })).result.output).toBe(
      '{"url":"u","words":1}>b',
    )
    expect((await call(pipeline([pretty, textTool('b')]), {})).result.output).toBe('A page>b')
  })

  it('The input of a step has the form that the next step accepts', async () => {
    const spell = textTool('spell', (text) => text.replace('}', ',"more":1}')) as AgentTool
    const { inputs } = await call(pipeline([read, spell, rate]), { url: 'ab' })
    expect(inputs).toEqual([
      '{"url":"ab"}',
      JSON.stringify('{"url":"ab","words":2}'),
      '{"url":"ab","words":2,"more":1}',
    ])
  })

  it('The input of a step is the unchanged input of the pipeline for the first step', async () => {
    const seen: unknown[] = []
    const tool = defineTool({
      name: 'look',
      description: 'Looks',
      input: Type.Object({ n: Type.Integer() }),
      execute: (input) => {
        seen.push(input)
        return ''
      },
    })
    const { inputs } = await call(pipeline([tool, textTool('b')]), { n: 1, more: true })
    expect(inputs[0]).toBe('{"n":1,"more":true}')
    expect(seen).toHaveLength(1)
  })

  it('The input of a step does not affect the structured value of the last step', async () => {
    const { result } = await call(pipeline([read]), { url: 'ab' })
    expect(result.structured).toEqual({ url: 'ab', words: 2 })
  })
})

describe('[PIPE-P2] an adapter', () => {
  it('An adapter converts the result to the input of the next step', async () => {
    const tool = pipelineBuilder()
      .step(read)
      .adapter(({ structured, output }) => `${structured.words} words: ${output}`)
      .step(textTool('b'))
      .build()
    const { result } = await call(tool, { url: 'ab' })
    expect(result.output).toBe('2 words: {"url":"ab","words":2}>b')
  })

  it('An adapter can be async, and can return values for typed steps', async () => {
    const tool = pipelineBuilder()
      .step(textTool('a'))
      .adapter(async ({ output }) => Promise.resolve({ url: output }))
      .step(read)
      .build()
    expect((await call(tool, { input: 'x' })).result.structured).toEqual({ url: 'x>a', words: 3 })
  })

  it.each([[null], [undefined]])(
    'An adapter that returns %s passes an empty text to a text step',
    async (nothing) => {
      const tool = pipelineBuilder()
        .step(textTool('a'))
        .adapter(() => nothing)
        .step(textTool('b'))
        .build()
      expect((await call(tool, { input: 'x' })).result.output).toBe('>b')
    },
  )

  it('An adapter receives the value of a step only if the step declares one', async () => {
    const seen: unknown[] = []
    const either = defineTool({
      name: 'either',
      description: 'Gives text or a value',
      input: Type.Object({}),
      output: Type.Union([Page, Type.String()]),
      execute: () => ToolResult.success('only text'),
    })
    const tool = pipelineBuilder()
      .step(either)
      .adapter((result) => {
        seen.push(result.structured)
        return ''
      })
      .step(textTool('b'))
      .adapter((result) => {
        seen.push(result.structured)
        return ''
      })
      .step(textTool('c'))
      .build()
    await call(tool, {})
    expect(seen).toEqual(['only text', undefined])
  })

  it('An adapter receives the context of the whole pipeline', async () => {
    const seen: unknown[] = []
    const tool = pipelineBuilder()
      .step(textTool('a'))
      .adapter((_, { callId, agentRole }) => {
        seen.push(callId, agentRole)
        return ''
      })
      .step(textTool('b'))
      .build()
    await call(tool, { input: 'x' }, { agentRole: 'Writer' })
    expect(seen).toEqual(['c', 'Writer'])
  })

  it('An adapter does not run after a failed step or after the last one', async () => {
    const after: string[] = []
    const build = (errorStrategy: PipelineErrorStrategy): ReturnType<typeof pipeline> =>
      pipelineBuilder({ errorStrategy })
        .step(failing('a'))
        .adapter(() => after.push('a'))
        .step(textTool('b') as ReturnType<typeof pipeline>)
        .adapter(() => after.push('b'))
        .build()
    await call(build('FAIL_FAST'), { input: '' })
    await call(build('CONTINUE_ON_FAILURE'), { input: '' })
    expect(after).toEqual([])
  })
})

describe('[PIPE-P3] FAIL_FAST', () => {
  it('FAIL_FAST returns the unchanged result of a failed step, and runs no other step', async () => {
    const failed = ToolResult.failure('No such page')
    const failingStep = textTool('b', () => failed)
    const { result, steps, end } = await call(
      pipeline([textTool('a'), failingStep, textTool('c')]),
      { input: 'x' },
    )
    expect(result).toBe(failed)
    expect(end).toBe('finished')
    expect(steps).toEqual(['c/1:a a finished', 'c/2:b b finished'])
  })

  it('FAIL_FAST returns the message of a typed step about invalid input', async () => {
    const wrong = defineTool({
      name: 'wrong',
      description: 'Gives what it does not declare',
      input: Type.Object({}),
      output: Type.Object({ url: Type.String() }),
      execute: () => ToolResult.success('', { link: 'x' }),
    })
    const { result, steps } = await call(pipeline([wrong, read, rate]), {})
    expect(result.errorMessage).toBe('Invalid input for "read": /url is required')
    expect(steps).toHaveLength(2)
  })
})

describe('[PIPE-P4] CONTINUE_ON_FAILURE', () => {
  it('CONTINUE_ON_FAILURE passes the error message on, and returns the last result', async () => {
    const tool = pipeline([failing('a'), textTool('b'), textTool('c')], {
      errorStrategy: 'CONTINUE_ON_FAILURE',
    })
    const { result, steps } = await call(tool, { input: 'x' })
    expect(result).toEqual(ToolResult.success('No such page>b>c'))
    expect(steps).toHaveLength(3)
  })

  it('CONTINUE_ON_FAILURE passes an empty text on if there is no message', async () => {
    const silent = textTool('a', () => ({ success: false, output: '' }))
    const tool = pipeline([silent, textTool('b')], { errorStrategy: 'CONTINUE_ON_FAILURE' })
    expect((await call(tool, { input: 'x' })).result.output).toBe('>b')
  })

  it('CONTINUE_ON_FAILURE returns the failure of the last step', async () => {
    const tool = pipeline([textTool('a'), failing('b', 'Disk full')], {
      errorStrategy: 'CONTINUE_ON_FAILURE',
    })
    expect((await call(tool, { input: 'x' })).result).toEqual(ToolResult.failure('Disk full'))
  })

  it('CONTINUE_ON_FAILURE passes on the message of a typed step that rejects an error message', async () => {
    const tool = pipeline([throwingTool('a') as ReturnType<typeof pipeline>, read, textTool('c')], {
      errorStrategy: 'CONTINUE_ON_FAILURE',
    })
    const { output } = (await call(tool, { input: 'x' })).result
    expect(output).toContain('Invalid input for "read": ')
    expect(output).toContain("Step 'a' threw: No network")
    expect(output.endsWith('>c')).toBe(true)
  })

  it('CONTINUE_ON_FAILURE does not pass on input that the first step rejects: the model must correct it', async () => {
    const tool = pipeline([read, textTool('b')], {
      errorStrategy: 'CONTINUE_ON_FAILURE',
      name: 'p',
    })
    const { result, steps } = await call(tool, {})
    expect(result).toEqual(ToolResult.failure('Invalid input for "p": /url is required'))
    expect(steps).toEqual([])
  })
})

describe('[PIPE-P5] the message of a failure', () => {
  it('The message of a failure names a step that threw', async () => {
    const { result, steps } = await call(pipeline([textTool('a'), throwingTool('b')]), {
      input: '',
    })
    expect(result).toEqual(ToolResult.failure("Step 'b' threw: No network"))
    expect(steps).toEqual(['c/1:a a finished', 'c/2:b b threw'])
  })

  it('The message of a failure names the step before an adapter that threw, whose error is logged', async () => {
    const logged: unknown[] = []
    const logger = { ...silentLogger, warn: (...words: unknown[]) => logged.push(words) }
    const error = new RangeError('No results')
    const tool = pipelineBuilder()
      .step(textTool('a'))
      .adapter(() => {
        throw error
      })
      .step(textTool('b'))
      .build()
    const { result, steps } = await call(tool, { input: '' }, { logger })
    expect(result).toEqual(ToolResult.failure("Adapter after step 'a' threw: No results"))
    expect(steps).toHaveLength(1)
    expect(logged).toEqual([["Adapter after step 'a' threw", { callId: 'c', error }]])
  })

  it('The message of a failure is passed on if an adapter threw, as for a failed step', async () => {
    const tool = pipelineBuilder({ errorStrategy: 'CONTINUE_ON_FAILURE' })
      .step(textTool('a'))
      .adapter((): string => {
        throw new Error('No results')
      })
      .step(textTool('b'))
      .build()
    expect((await call(tool, { input: '' })).result.output).toBe(
      "Adapter after step 'a' threw: No results>b",
    )
  })

  it.each<[string, ToolReturn<never>]>([
    ['text', 'Nothing found'],
    ['a result without a value', ToolResult.success('Nothing found')],
  ])(
    'The message of a failure names a step that returns %s although it declares a value',
    async (_, returned) => {
      const careless = defineTool({
        name: 'careless',
        description: 'Returns text instead of its value',
        input: Type.Object({}),
        output: Page,
        execute: () => returned,
      })
      const message =
        'Tool "careless" returned text instead of the value that it declares as output'
      expect((await call(pipeline([careless, rate]), {})).result).toEqual(
        ToolResult.failure(message),
      )
      const adapted = pipelineBuilder()
        .step(careless)
        .adapter(({ structured }) => structured.url)
        .step(textTool('b'))
        .build()
      expect((await call(adapted, {})).result).toEqual(ToolResult.failure(message))
      expect((await call(pipeline([careless, textTool('b')]), {})).result.output).toBe(
        'Nothing found>b',
      )
    },
  )
})

describe('[PIPE-P7] the pipeline ends', () => {
  const ends = [
    ['EXIT_EARLY', 'exit_early'],
    ['TOOL_CONFIGURATION', 'misconfigured'],
  ] as const

  it.each(ends)('The pipeline ends with %s of a step', async (code, end) => {
    const error = new TuttiError(code, 'Stop')
    const stopping = textTool('b', () => {
      throw error
    })
    const tool = pipeline([textTool('a'), stopping, textTool('c')], {
      errorStrategy: 'CONTINUE_ON_FAILURE',
    })
    const outcome = await call(tool, { input: '' })
    expect(outcome).toMatchObject({ end, error })
    expect(outcome.steps).toEqual(['c/1:a a finished', `c/2:b b ${end}`])
  })

  it.each(ends)('The pipeline ends with %s of an adapter', async (code, end) => {
    const error = new TuttiError(code, 'Stop')
    const tool = pipelineBuilder({ errorStrategy: 'CONTINUE_ON_FAILURE' })
      .step(textTool('a'))
      .adapter((): string => {
        throw error
      })
      .step(textTool('b'))
      .build()
    const outcome = await call(tool, { input: '' })
    expect(outcome).toMatchObject({ end, error })
    expect(outcome.steps).toHaveLength(1)
  })

  it('The pipeline ends with another error code as after any failure', async () => {
    const tool = pipelineBuilder()
      .step(textTool('a'))
      .adapter((): string => {
        throw new TuttiError('TOOL_FAILED', 'Broken')
      })
      .step(textTool('b'))
      .build()
    const outcome = await call(tool, { input: '' })
    expect(outcome.end).toBe('finished')
    expect(outcome.result.errorMessage).toBe("Adapter after step 'a' threw: Broken")
  })
})
