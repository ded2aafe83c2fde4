import { describe, expect, it } from 'vitest'

import { scriptedModel } from '../../test/testing.ts'
import { ensemble, type Ensemble } from '../ensemble.ts'
import { priceList } from '../model/prices.ts'
import { task } from '../definition/define-task.ts'
import { narrowedBudget } from './narrowed-budget.ts'

import type { Budget } from '../usage/budget.ts'

const prices = priceList({ 'scripted:model': { inputPerMillion: 1, outputPerMillion: 1 } })

function team(budget?: Budget): Ensemble {
  return ensemble({
    name: 'team',
    tasks: [task({ name: 'work', description: 'Work' })],
    // A model of a named provider has no price.
    model: scriptedModel([], { provider: 'scripted' }),
    ...(budget === undefined ? {} : { budget }),
  })
}

function narrowed(
  own: Budget | undefined,
  asked: Budget,
  known = true,
): [Budget, readonly string[]] {
  const warnings: string[] = []
  const warn = (message: string): void => {
    warnings.push(message)
  }
  const ignore = (): void => undefined
  const logger = { debug: ignore, info: ignore, warn, error: ignore }
  return [
    narrowedBudget(team(own), asked, { prices: known ? prices : undefined, logger }),
    warnings,
  ]
}

describe('narrowedBudget', () => {
  it('narrowedBudget takes the smaller value of each limit', () => {
    const own = { maxTokens: 100, maxCostUsd: 1, maxToolCalls: 3 }
    expect(narrowed(own, { maxTokens: 50, maxCostUsd: 2, maxDurationMs: 5 })).toEqual([
      { maxTokens: 50, maxCostUsd: 1, maxToolCalls: 3, maxDurationMs: 5 },
      [],
    ])
    expect(narrowed(undefined, { maxCostUsd: 2 })).toEqual([{ maxCostUsd: 2 }, []])
  })

  it('narrowedBudget leaves out and logs a requested cost limit that cannot be enforced', () => {
    expect(narrowed({ maxTokens: 9 }, { maxCostUsd: 2, maxTokens: 3 }, false)).toEqual([
      { maxTokens: 3 },
      ['maxCostUsd cannot be enforced: models have no price'],
    ])
  })

  it('narrowedBudget never drops a cost limit of the ensemble', () => {
    expect(narrowed({ maxCostUsd: 5 }, { maxCostUsd: 2 }, false)).toEqual([{ maxCostUsd: 2 }, []])
  })
})
