/** The project policy and its succession. */
@NullMarked
package org.cloister.protocol.policy;

import org.jspecify.annotations.NullMarked;
