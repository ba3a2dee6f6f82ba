/** Links, ticket streams and circuits of a person's device. */
@NullMarked
package org.cloister.ctl.circuit;

import org.jspecify.annotations.NullMarked;
