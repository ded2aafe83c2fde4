import { SubmitRunBody } from '@tutti/protocol'
import { InjectBody } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { applyLook } from './apply-look.ts'
import { createFieldAtPointer } from './form-model.ts'
import { checkRows } from './map-rows.ts'

import type { FieldLook } from './field-look.ts'

/** Returns the field of a submission at a pointer. */
function fieldAt(pointer: string, look: FieldLook = {}, value: unknown = {}) {
  return applyLook(createFieldAtPointer(SubmitRunBody, value, pointer), look)
}

describe('a single field of a form', () => {
  it('A single field of a form has the schema and the value at its pointer', () => {
    const value = { budget: { maxTokens: 5 }, taskOverrides: { 'a/b': { model: 'm' } } }
    expect(fieldAt('/budget/maxTokens', {}, value)).toMatchObject({ kind: 'number', value: 5 })
    expect(fieldAt('/taskOverrides/a~1b/model', {}, value)).toMatchObject({
      kind: 'text',
      value: 'm',
    })
    expect(fieldAt('/clientTools/0/name')).toMatchObject({ kind: 'text', isRequired: true })
    expect(fieldAt('/tasks/0/name')).toMatchObject({ isRequired: false, isGiven: false })
    expect(fieldAt('/tags')).toMatchObject({ kind: 'map' })
    expect(fieldAt('/nothing')).toMatchObject({ kind: 'json' })
  })

  it('A single field of a form is labelled with its name in words, or as its schema or its look says', () => {
    expect(fieldAt('/tasks/0/expectedOutput').label).toBe('Expected output')
    expect(fieldAt('/inputs/topic', { label: 'topic' }).label).toBe('topic')
    const titled = { properties: { a: { type: 'string', title: 'First' } } }
    expect(applyLook(createFieldAtPointer(titled, {}, '/a'), {}).label).toBe('First')
  })

  it('A single field of a form offers the values of an enum with labels, or the choices of its look', () => {
    const policy = fieldAt('/options/reviewPolicy')
    expect(policy).toMatchObject({ kind: 'choice', options: expect.arrayContaining(['NEVER']) })
    expect(policy.look.choices?.map(({ label }) => label)).toContain('Never')
    expect(fieldAt('/options/verbose').look.choices).toEqual([
      { value: true, label: 'Yes' },
      { value: false, label: 'No' },
    ])
    const choices = [{ value: 'small', label: 'small (p)' }]
    expect(fieldAt('/tasks/0/model', { choices })).toMatchObject({ kind: 'choice' })
    expect(fieldAt('/tasks/0/tools', { choices })).toMatchObject({ kind: 'picks' })
    const priority = applyLook(createFieldAtPointer(InjectBody, {}, '/priority'), {})
    expect(priority.look.choices?.[0]).toEqual({ value: 'CRITICAL', label: 'Critical' })
  })
})

describe('rows of names and values', () => {
  const row = (name: string, value: unknown, key = 0) => ({ key, name, value })

  it('Rows of names and values become an object, and keep numbers and booleans', () => {
    expect(checkRows([row('a', 'x'), row('', ''), row('b', 5)])).toEqual({
      ok: true,
      value: { a: 'x', b: 5 },
    })
  })

  it('Rows of names and values are rejected if a name is missing or used twice', () => {
    expect(checkRows([row('', 'x')])).toEqual({ ok: false, why: 'has a value without a name' })
    expect(checkRows([row('a', 'x'), row('a', 'y')])).toEqual({
      ok: false,
      why: 'contains "a" twice',
    })
  })
})
