import { describe, expect, it } from 'vitest'

import { labelHold, labelRun } from './labels.ts'

type Open = Parameters<typeof labelHold>[0][number]

const sleep: Open = { status: 'OPEN', kind: 'EVENT', waitsFor: [] }
const event: Open = { ...sleep, waitsFor: [{ name: 'paid' }] }
const client: Open = { status: 'OPEN', kind: 'CLIENT_TOOL' }
const output: Open = { status: 'OPEN', kind: 'TASK_OUTPUT' }

describe('labelHold', () => {
  it.each<[readonly Open[], string]>([
    [[sleep], 'Sleeping'],
    [[sleep, event], 'Waits for event'],
    [[event, client], 'Waits for client'],
    [[event, output, client], 'Needs review'],
    [[{ ...output, status: 'DECIDED' }, sleep], 'Sleeping'],
  ])('labelHold names the most urgent of the open waits %j: %s', (reviews, word) => {
    expect(labelHold(reviews)?.word).toBe(word)
  })

  it('labelHold returns nothing if every review is closed', () => {
    expect(labelHold([{ ...output, status: 'DECIDED' }])).toBeUndefined()
  })
})

describe('labelRun', () => {
  it('labelRun shows what a run waits for only while it waits', () => {
    expect(labelRun('WAITING', labelHold([event])).word).toBe('Waits for event')
    expect(labelRun('WAITING_REVIEW', labelHold([client, event])).word).toBe('Waits for client')
    expect(labelRun('WAITING', undefined).word).toBe('Waiting')
    expect(labelRun('RUNNING', labelHold([event])).word).toBe('Running')
  })
})
