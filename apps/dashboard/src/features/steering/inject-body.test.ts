import { decode } from '@tutti/protocol'
import { InjectBody } from '@tutti/protocol/internal'
import { expect, it } from 'vitest'

import { NO_DIRECTIVE, toInjectBody } from './inject-body.ts'

const FORM = { content: 'Be short' }

function problemsOf(value: Readonly<Record<string, unknown>>): readonly string[] {
  const checked = decode(InjectBody, toInjectBody(value))
  return checked.ok ? [] : checked.problems.map(({ path }) => path)
}

it('A directive is sent with the chosen values only', () => {
  expect(toInjectBody(FORM)).toEqual(FORM)
  const all = { ...FORM, target: 'draft', priority: 'HIGH' }
  expect(toInjectBody({ ...all, valid: 'PT5M', ttl: 'old' })).toEqual({ ...all, ttl: 'PT5M' })
  expect(toInjectBody({ ...FORM, valid: 'custom', ttl: ' PT90S ' })).toMatchObject({ ttl: 'PT90S' })
  expect(problemsOf({ ...all, valid: 'PT5M' })).toEqual([])
})

it('A directive without a text, and one with an invalid duration, have a problem at their field', () => {
  expect(problemsOf({})).toEqual(['/content'])
  expect(problemsOf({ content: '  ' })).toEqual(['/content'])
  for (const ttl of [undefined, '', '5 minutes']) {
    expect(problemsOf({ ...FORM, valid: 'custom', ttl })).toEqual(['/ttl'])
  }
})

it('The form of a directive begins with the default priority', () => {
  expect(NO_DIRECTIVE.value).toEqual({ priority: 'NORMAL' })
  expect(InjectBody.properties.priority.enum).toContain('NORMAL')
})
