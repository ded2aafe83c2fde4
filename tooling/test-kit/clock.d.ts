/**
 * The clock of `@tutti/testing`, for the tests of packages that it builds on. By path: a dependency both
 * ways would be a cycle that no build can order.
 */
export { fakeClock, type FakeClock } from '../../packages/testing/src/index.ts'
