/** An OVSDB client (RFC 7047): transactions, and a copy of the rows that the server keeps current. */
@NullMarked
package org.cloister.ovs.ovsdb;

import org.jspecify.annotations.NullMarked;
