/** Writes audit logs: the folder, its segments, and a witness's file of heads. */
@NullMarked
package org.cloister.audit;

import org.jspecify.annotations.NullMarked;
