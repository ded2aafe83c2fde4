/**
 * Limits the work of the type checker for a user's file of thirty typed tools, five pipelines and five ensembles. The
 * benchmark `types` measures the time.
 */
import { expect, it } from 'vitest'

import { checkProject, COMPILERS } from '../bench/lib/type-check.ts'

/** Maximum number of instantiations. Types that exceed it make the editors and builds of users slower. */
const LIMIT = 70_000

it.each(COMPILERS)(
  'The type checker checks tools and pipelines of a user with %s within the limit',
  (compiler) => {
    const { instantiations } = checkProject(compiler, 'tools')
    expect(instantiations).toBeGreaterThan(0)
    expect(instantiations).toBeLessThan(LIMIT)
  },
)
