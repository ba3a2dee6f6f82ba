/** DSSE envelopes, signing and verification keys. */
@NullMarked
package org.cloister.protocol.dsse;

import org.jspecify.annotations.NullMarked;
