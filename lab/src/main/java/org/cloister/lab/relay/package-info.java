/** A relay with its peers for the bench: what is started beside it, and the programs that load it. */
@NullMarked
package org.cloister.lab.relay;

import org.jspecify.annotations.NullMarked;
