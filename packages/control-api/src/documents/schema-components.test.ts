import { ErrorBody, RunList } from '@tutti/protocol'
import { TaskTrace } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { schemaComponents } from './schema-components.ts'

describe('schemaComponents', () => {
  it('schemaComponents refers to named schemas and registers them with all schemas that they refer to', () => {
    const components = schemaComponents()
    expect(components.refer(RunList)).toEqual({ $ref: '#/components/schemas/RunList' })
    expect(Object.keys(components.all())).toEqual([
      'RunList',
      'RunPriority',
      'RunStatus',
      'RunSummary',
      'Workflow',
    ])
    expect(components.all()['RunList']).toMatchObject({
      properties: { runs: { items: { $ref: '#/components/schemas/RunSummary' } } },
    })
  })

  it('schemaComponents recognizes an optional copy of a schema', () => {
    const components = schemaComponents()
    components.refer(ErrorBody)
    expect(components.all()['ErrorBody']).toMatchObject({
      properties: { problems: { items: { $ref: '#/components/schemas/Problem' } } },
    })
  })

  it('schemaComponents inlines a schema without a name', () => {
    const components = schemaComponents()
    const schema = { type: 'array', items: { type: 'string', enum: ['a'] } }
    expect(components.refer(schema)).toEqual(schema)
    expect(components.all()).toEqual({})
  })

  it('schemaComponents makes a recursive schema refer to itself, without a nested name', () => {
    const components = schemaComponents()
    expect(components.refer(TaskTrace)).toEqual({ $ref: '#/components/schemas/TaskTrace' })
    const text = JSON.stringify(components.all()['TaskTrace'])
    expect(text).toContain('{"$ref":"#/components/schemas/TaskTrace"}')
    expect(text).not.toMatch(/\$id|\$defs/)
  })

  it('schemaComponents registers a schema once, however often it is referred to', () => {
    const components = schemaComponents()
    components.refer(RunList)
    const [before] = Object.values(components.all())
    components.refer(RunList)
    expect(Object.values(components.all())[0]).toBe(before)
  })
})
