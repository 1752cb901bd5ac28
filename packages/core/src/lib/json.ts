/** A JSON value as it came over the wire. Objects may have any key, `__proto__` included: read them with `Object.hasOwn`. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };
