/**
 * Exports the clock of `@tutti/testing` for tests of packages that it depends on. Imported by path, because a
 * dependency in both directions would be a cycle that no build can order.
 */
export { fakeClock, type FakeClock } from '../../packages/testing/src/index.ts'
