package org.cloister.preflight.machine;

import java.util.List;
import java.util.Optional;

/**
 * State of a machine from which checks decide. An absent item is an empty result; an item that cannot be determined is
 * an {@link UndeterminedException}. No method confuses the two.
 */
public interface InspectedMachine {
    /** Returns the file's text, unpacked if the name ends in {@code .gz}; empty if there is no such file. */
    Optional<String> read(String path) throws UndeterminedException;

    /** Returns the names in a folder, sorted; empty if there is no such folder. */
    Optional<List<String>> list(String folder) throws UndeterminedException;

    /** Returns the path of a program in PATH or in the system's folders. */
    Optional<String> find(String program);

    /** Runs a program to its end, in bounded time; empty if there is no such program. */
    Optional<ProgramResult> run(List<String> arguments) throws UndeterminedException;

    /** Writes bytes to a file of this process, for a program to read. */
    String writeTemporaryFile(String name, byte[] content) throws UndeterminedException;

    Optional<String> environment(String variable);

    /** Returns a property of the Java runtime. */
    Optional<String> property(String name);

    default Optional<ProgramResult> run(String... arguments) throws UndeterminedException {
        return run(List.of(arguments));
    }

    default boolean isFolder(String folder) throws UndeterminedException {
        return list(folder).isPresent();
    }

    default Optional<String> firstWord(String path) throws UndeterminedException {
        return read(path).map(text -> text.strip().split("\\s+", 2)[0]);
    }
}
