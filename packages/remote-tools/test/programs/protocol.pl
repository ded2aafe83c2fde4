# Does what its input says, by the protocol of process tools.
use strict;
use warnings;
use JSON::PP;

local $/;
my $json = JSON::PP->new->utf8;
my $wish = $json->decode(<STDIN>)->{input};

sub answer { print $json->encode({@_}), "\n" }

if ($wish eq 'answer') { answer(output => 'from perl', success => JSON::PP::true) }
elsif ($wish eq 'structured') {
    answer(output => 'from perl', success => JSON::PP::true, structured => { by => 'perl' });
}
elsif ($wish eq 'failure') { answer(error => 'perl would not', success => JSON::PP::false) }
elsif ($wish eq 'exit') { answer(output => 'not to be read'); exit 3 }
elsif ($wish eq 'complain') { answer(output => 'not to be read'); print STDERR "perl broke\n"; exit 3 }
elsif ($wish eq 'plain') { print "\n  perl says hello \n\n" }
elsif ($wish eq 'signal') { kill 'KILL', $$ }
elsif ($wish eq 'noise') { print STDERR "perl warns\n"; answer(output => 'from perl') }
elsif ($wish =~ /^echo (.*)/s) { answer(output => $1) }
