/** Signed objects: DSSE envelopes, version 1, and the keys that sign them. */
@NullMarked
package org.cloister.protocol.dsse;

import org.jspecify.annotations.NullMarked;
