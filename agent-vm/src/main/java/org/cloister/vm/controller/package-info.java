/** The daemon: its parts joined. */
@NullMarked
package org.cloister.vm.controller;

import org.jspecify.annotations.NullMarked;
