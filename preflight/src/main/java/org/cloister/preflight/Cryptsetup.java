package org.cloister.preflight;

import java.util.List;
import java.util.Optional;
import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.Ran;
import org.cloister.preflight.machine.UnknownException;

/** The library that opens volumes, libcryptsetup.so.12, and the version that its command tells. */
record Cryptsetup() implements Check {
    private static final Version OLDEST = new Version(2, 4);
    private static final String MEND = "apt-get install cryptsetup-bin libcryptsetup12, or dnf install cryptsetup";
    private static final List<String> FOLDERS = List.of(
            "/usr/lib/x86_64-linux-gnu",
            "/lib/x86_64-linux-gnu",
            "/usr/lib/aarch64-linux-gnu",
            "/usr/lib64",
            "/usr/lib");

    @Override
    public String name() {
        return "cryptsetup";
    }

    @Override
    public Finding run(Machine machine) throws UnknownException {
        boolean library = false;
        for (String folder : FOLDERS) {
            library |= machine.list(folder).orElse(List.of()).contains("libcryptsetup.so.12");
        }
        if (!library) {
            return Finding.failure(this, "libcryptsetup.so.12 is missing", MEND);
        }
        Optional<Ran> asked = machine.run("cryptsetup", "--version");
        if (asked.isEmpty()) {
            return Finding.warning(this, "libcryptsetup.so.12 is there, cryptsetup is missing", MEND);
        }
        Optional<Version> version = Version.in(asked.get().out());
        if (version.isEmpty()) {
            throw new UnknownException("cryptsetup --version: " + asked.get().complaint(), "cryptsetup --version");
        }
        return version.get().compareTo(OLDEST) < 0
                ? Finding.failure(this, "cryptsetup " + version.get() + " is older than " + OLDEST, MEND)
                : Finding.ok(this, "libcryptsetup.so.12, cryptsetup " + version.get());
    }
}
