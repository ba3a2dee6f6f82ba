/** The OVSDB client (RFC 7047). */
@NullMarked
package org.cloister.ovs.ovsdb;

import org.jspecify.annotations.NullMarked;
