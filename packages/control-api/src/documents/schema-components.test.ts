import { ErrorBody, RunList, TaskTrace } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { schemaComponents } from './schema-components.ts'

describe('schemaComponents', () => {
  it('refers to a schema that has a name, and keeps it with all that it refers to, by name', () => {
    const components = schemaComponents()
    expect(components.refer(RunList)).toEqual({ $ref: '#/components/schemas/RunList' })
    expect(Object.keys(components.all())).toEqual([
      'RunList',
      'RunStatus',
      'RunSummary',
      'Workflow',
    ])
    expect(components.all()['RunList']).toMatchObject({
      properties: { runs: { items: { $ref: '#/components/schemas/RunSummary' } } },
    })
  })

  it('knows a schema in its optional copy too', () => {
    const components = schemaComponents()
    components.refer(ErrorBody)
    expect(components.all()['ErrorBody']).toMatchObject({
      properties: { problems: { items: { $ref: '#/components/schemas/Problem' } } },
    })
  })

  it('leaves a schema without a name where it is', () => {
    const components = schemaComponents()
    const schema = { type: 'array', items: { type: 'string', enum: ['a'] } }
    expect(components.refer(schema)).toEqual(schema)
    expect(components.all()).toEqual({})
  })

  it('has a schema that holds itself refer to itself, with no name of its own inside', () => {
    const components = schemaComponents()
    expect(components.refer(TaskTrace)).toEqual({ $ref: '#/components/schemas/TaskTrace' })
    const text = JSON.stringify(components.all()['TaskTrace'])
    expect(text).toContain('{"$ref":"#/components/schemas/TaskTrace"}')
    expect(text).not.toMatch(/\$id|\$defs/)
  })

  it('keeps a schema once, however often it is referred to', () => {
    const components = schemaComponents()
    components.refer(RunList)
    const [before] = Object.values(components.all())
    components.refer(RunList)
    expect(Object.values(components.all())[0]).toBe(before)
  })
})
