import { describe, expectTypeOf, it } from 'vitest'

import { calculator, datetime, fileRead, fileWrite, humanInput, jsonParser } from './index.ts'

import type { AgentTool, ToolSettings, TypedTool } from '@tutti/core'
import type {
  DatetimeOptions,
  FileReadInput,
  FileReadOptions,
  FileWriteInput,
  HumanInputOptions,
  JsonParserInput,
} from './internal.ts'

describe('the types of the tools', () => {
  it('The types of the tools declare a string as input of text tools', () => {
    expectTypeOf(calculator()).toEqualTypeOf<TypedTool<string>>()
    expectTypeOf(datetime()).toEqualTypeOf<TypedTool<string>>()
    expectTypeOf(humanInput()).toEqualTypeOf<TypedTool<string>>()
  })

  it('The types of the tools declare the arguments of typed tools', () => {
    expectTypeOf(jsonParser()).toEqualTypeOf<TypedTool<JsonParserInput>>()
    expectTypeOf(fileRead).returns.toEqualTypeOf<TypedTool<FileReadInput>>()
    expectTypeOf(fileWrite).returns.toEqualTypeOf<TypedTool<FileWriteInput>>()
    expectTypeOf<FileWriteInput>().toEqualTypeOf<{
      readonly path: string
      readonly content: string
    }>()
    expectTypeOf<FileReadInput>().toEqualTypeOf<{ readonly path: string }>()
    expectTypeOf<JsonParserInput>().toEqualTypeOf<{
      readonly jsonPath: string
      readonly json: string
    }>()
  })

  it('The types of the tools accept the settings of every tool', () => {
    expectTypeOf(calculator).returns.toExtend<AgentTool>()
    expectTypeOf(calculator).parameter(0).toEqualTypeOf<Partial<ToolSettings<string>> | undefined>()
    expectTypeOf<DatetimeOptions>().toExtend<Partial<ToolSettings<string>>>()
    expectTypeOf<FileReadOptions>().toExtend<Partial<ToolSettings<FileReadInput>>>()
  })

  it('The types of the tools require a directory for file tools, and exclude approval for human_input', () => {
    expectTypeOf(fileRead).parameter(0).toHaveProperty('directory').toBeString()
    expectTypeOf<HumanInputOptions>().not.toHaveProperty('requireApproval')
    // @ts-expect-error -- the directory is missing
    fileRead({})
  })
})
