/** The HTTP server for health and metrics. */
@NullMarked
package org.cloister.daemon.http;

import org.jspecify.annotations.NullMarked;
