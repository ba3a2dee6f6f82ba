/** TLS profiles and credentials. */
@NullMarked
package org.cloister.transport.tls;

import org.jspecify.annotations.NullMarked;
