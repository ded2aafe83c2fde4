import { expectTypeOf, it } from 'vitest'
import { type RouteParams, routePath } from './routes.ts'

it('A route requires exactly the parameters of its path', () => {
  expectTypeOf<RouteParams<'cancelRun'>>().toEqualTypeOf<{ runId: string }>()
  expectTypeOf(routePath('listRuns')).toEqualTypeOf<string>()
  // @ts-expect-error the run id is missing
  routePath('getRun')
  // @ts-expect-error the parameter is called runId
  routePath('getRun', { id: 'run-7f3a2b' })
})
