/** The control socket: callers, requests and responses. */
@NullMarked
package org.cloister.host.control;

import org.jspecify.annotations.NullMarked;
