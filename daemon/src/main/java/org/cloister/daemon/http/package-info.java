/** What a daemon says to operators and to Prometheus over HTTP/1.1. */
@NullMarked
package org.cloister.daemon.http;

import org.jspecify.annotations.NullMarked;
