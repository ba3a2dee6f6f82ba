/** The format of audit logs and their verification. */
@org.jspecify.annotations.NullMarked
package org.cloister.protocol.audit;
