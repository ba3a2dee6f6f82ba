/** The admin API of operators and Prometheus. */
@NullMarked
package org.cloister.relay.admin;

import org.jspecify.annotations.NullMarked;
