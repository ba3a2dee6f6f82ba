/** A controlling VM's role: the opened and the running project. */
@NullMarked
package org.cloister.vm.controller;

import org.jspecify.annotations.NullMarked;
