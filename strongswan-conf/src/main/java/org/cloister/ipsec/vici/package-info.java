/** The vici client for charon. */
@NullMarked
package org.cloister.ipsec.vici;

import org.jspecify.annotations.NullMarked;
