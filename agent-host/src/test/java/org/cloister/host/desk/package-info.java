/** The desk before real callers: processes of their own on a real socket. */
@NullMarked
package org.cloister.host.desk;

import org.jspecify.annotations.NullMarked;
