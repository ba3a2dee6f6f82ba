/** The audit chain: records, signed heads, segments, and how anybody finds what was changed. docs/protocol.md, section 14. */
@org.jspecify.annotations.NullMarked
package org.cloister.protocol.audit;
