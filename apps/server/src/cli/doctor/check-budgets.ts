/** Whether the cost limits of the ensembles can be enforced. */
import { findUnpriced } from '@tutti/ensemble'

import { pricesFor } from '../../start/prices.ts'
import { findingsOf, type Finding } from './finding.ts'

import type { TuttiConfig } from '../../config/config.ts'

/** Warns of each model that a cost limit covers and whose price is unknown: its runs are refused. */
export async function checkBudgets({
  ensembles,
}: Pick<TuttiConfig, 'ensembles'>): Promise<readonly Finding[]> {
  const { warning } = findingsOf('budget')
  const prices = await pricesFor(ensembles, [])
  return ensembles.flatMap((ensemble) =>
    findUnpriced(ensemble, { prices }).map((model) =>
      warning(
        `"${ensemble.name}" has a limit on cost, and no price is known for "${model}": its runs are refused`,
        'Limit tokens in place of cost, or use a model with a known price',
      ),
    ),
  )
}
