/** The circuit broker. */
@NullMarked
package org.cloister.relay.circuits;

import org.jspecify.annotations.NullMarked;
