/**
 * A package as it is published, built, by the name of its folder. Give it the type of its sources:
 * the build has the same doors.
 */
export async function builtPackage<T>(name: string): Promise<T> {
  const door = new URL(`../../../packages/${name}/dist/index.js`, import.meta.url)
  // NOTE: the build of a package has the doors of its sources.
  return (await import(door.href)) as T
}
