/** Connections to daemons that may stop and start again. */
@NullMarked
package org.cloister.base.connection;

import org.jspecify.annotations.NullMarked;
