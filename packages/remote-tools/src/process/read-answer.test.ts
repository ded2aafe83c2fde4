import { ToolResult } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { readProcessAnswer, readAnswerObject } from './read-answer.ts'

const { success, failure } = ToolResult

describe('an answer by the protocol', () => {
  it.each<[string, ToolResult]>([
    ['{"output":"fine","success":true}', success('fine')],
    ['{"output":"fine"}', success('fine')],
    ['{"output":""}', success('')],
    ['{"output":"fine","structured":{"n":1}}', success('fine', { n: 1 })],
    ['{"output":"fine","structured":[0]}', success('fine', [0])],
    ['{"output":"fine","structured":0}', success('fine', 0)],
    ['{"output":"fine","structured":null}', success('fine')],
    ['{"error":"no such city","success":false}', failure('no such city')],
    ['{"output":"half","error":"no such city","success":false}', failure('no such city')],
    ['{"output":"fine","error":"a remark"}', success('fine')],
  ])('readAnswer reads %s by the protocol', (text, result) => {
    expect(read(text)).toEqual(result)
  })

  it('An answer by the protocol can fail with a value in addition to the error', () => {
    const result = read('{"success":false,"error":"no","structured":{"code":7}}')
    expect(result).toEqual({ ...failure('no'), structured: { code: 7 } })
    expect(ToolResult.isMade(result)).toBe(true)
  })
})

describe('an answer that follows the protocol loosely', () => {
  it.each<[string, ToolResult]>([
    ['', success('')],
    ['just text', success('just text')],
    ['{"output": "cut', success('{"output": "cut')],
    ['{"success":false}', failure('Process returned success=false')],
    ['{"success":false,"error":null}', failure('Process returned success=false')],
    ['{"success":false,"error":"  "}', failure('Process returned success=false')],
    ['{"success":"false","error":"no"}', failure('no')],
    ['{"success":" FALSE ","error":"no"}', failure('no')],
    ['{"success":0,"error":"no"}', failure('no')],
    ['{"success":null,"output":"yes"}', success('yes')],
    ['{"success":"no","output":"yes"}', success('yes')],
    ['{"success":1,"output":"yes"}', success('yes')],
    ['{"success":false,"error":{"code":7}}', failure('{"code":7}')],
    ['{"success":false,"error":7}', failure('7')],
    ['{"output":{"n":1}}', success('{"n":1}', { n: 1 })],
    ['{"output":{"n":1},"structured":{"m":2}}', success('{"n":1}', { m: 2 })],
    ['{"output":[1,2]}', success('[1,2]', [1, 2])],
    ['{"output":5}', success('5')],
    ['{"output":false}', success('false')],
    ['{"output":null}', success('{"output":null}')],
    ['{"structured":{"n":1}}', success('{"structured":{"n":1}}', { n: 1 })],
    ['{"temperature":21}', success('{"temperature":21}')],
    ['42', success('42')],
    ['"text"', success('"text"')],
    ['[1,2]', success('[1,2]')],
    ['null', success('null')],
    ['{"__proto__":{"output":"x"}}', success('{"__proto__":{"output":"x"}}')],
  ])('readAnswer reads %s, which follows the protocol loosely', (text, result) => {
    expect(read(text)).toEqual(result)
  })
})

describe('an answer of a tool that declares its output', () => {
  it.each<[string, ToolResult]>([
    ['{"output":{"n":1}}', success('{"n":1}', { n: 1 })],
    ['{"output":5}', success('5', 5)],
    ['{"output":"five"}', success('five', 'five')],
    ['{"output":"five","structured":5}', success('five', 5)],
    ['{"n":1}', success('{"n":1}', { n: 1 })],
    ['[1,2]', success('[1,2]', [1, 2])],
    ['7', success('7', 7)],
    ['{"success":true}', success('{"success":true}')],
    ['just text', success('just text')],
    ['', success('')],
  ])('readAnswer reads %s for a tool that declares its output', (text, result) => {
    expect(read(text, true)).toEqual(result)
  })
})

it('readAnswer returns the given text for an object without output', () => {
  const options = { declaresOutput: false, text: 'the line' }
  expect(readAnswerObject({ success: true }, options)).toEqual(success('the line'))
})

function read(text: string, declaresOutput = false): ToolResult {
  return readProcessAnswer(text, { declaresOutput })
}
